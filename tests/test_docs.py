"""The docs are complete and current: every verb, setting, reason, field, code and verdict field is there."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from faultwise.engine.failure.fields import FULL
from faultwise.engine.policy.policy import Policy
from faultwise.engine.policy.schema import NAMES, schema
from faultwise.engine.verdict.verdict import Verdict
from faultwise.server.cli import VERBS
from faultwise.server.layers import KNOWN

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted((*DOCS.rglob("*.md"), *(ROOT / "examples").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"))


def text(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_current(generator: ModuleType) -> None:
    made = generator.pages()
    stale = [str(name) for name, page in made.items() if not (DOCS / name).exists() or text(str(name)) != page]
    gone = [path.name for path in (DOCS / "rules").glob("*.md") if path.relative_to(DOCS) not in made]
    assert (stale, gone) == ([], []), "run `make docs`"


def test_every_rule_has_its_page(shipped: Policy) -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "rules").glob("*.md"))
    providers = [one for name, one in shipped.providers.items() if name == one.name]
    rules = {rule.id for one in providers for rule in (*one.restatements, *one.rules)}
    for rule in rules | {rule.id for rule in shipped.general}:
        assert f"# {rule}\n" in pages


def test_every_verb_and_option_is_there() -> None:
    page = text("command-line.md")
    for verb in VERBS:
        assert f"\n## {verb}\n" in page
    assert "--strict" in page and "--mutate" in page


def test_every_setting_is_there() -> None:
    page = text("settings.md")
    for name in KNOWN:
        assert f"| `{name}` |" in page
    for name in schema("gateway")["properties"]:
        assert f"\n## {name}\n" in page


def test_every_reason_is_there(shipped: Policy) -> None:
    page = text("rules/reasons.md")
    for name in shipped.reasons:
        assert f"\n## {name}\n" in page


def test_every_field_is_there_and_explained() -> None:
    page = text("fields.md")
    for name in FULL.fields:
        assert re.search(rf"^\| `{name}` \| [^|]+ \| [^|]{{3,}} \|$", page, re.MULTILINE), name
    for name in FULL.keyed:
        assert f'| `{name}["…"]` |' in page


def test_every_code_is_there() -> None:
    code = re.compile(r"\"(FW\d{3})\"")
    listed = text("errors.md") + text("lint/README.md")
    for path in (path for folder in ("dsl", "engine", "server") for path in (ROOT / folder).rglob("*.py")):
        for found in code.findall(path.read_text(encoding="utf-8")):
            assert found in listed, f"{path}: {found}"


def test_every_field_of_a_verdict_is_there() -> None:
    for name in Verdict.__slots__:
        assert f"`{name}`" in text("embedding.md")


@pytest.mark.parametrize("name", NAMES)
def test_every_key_of_a_file_has_a_title_and_is_explained(name: str) -> None:
    def visit(part: object) -> None:
        if not isinstance(part, dict):
            return
        for key, inner in part.get("properties", {}).items():
            assert {"title", "description"} <= inner.keys(), f"{name}: {key}"
            visit(inner)

    visit(schema(name))
    for part in schema(name).get("$defs", {}).values():
        visit(part)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_link_leads_nowhere(page: Path) -> None:
    plain = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", plain):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        there = (page.parent / file).resolve() if file else page
        assert there.exists(), target
        if anchor:
            heads = re.findall(r"^#+ (.+)$", there.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {_anchor(head) for head in heads}, target


def _anchor(head: str) -> str:
    return re.sub(r"[^\w\- ]", "", head.strip().lower()).replace(" ", "-")


def test_the_tutorial_does_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command of the page runs, in its order, and what it prints begins as shown."""
    import shlex

    from faultwise.server.cli import main

    monkeypatch.chdir(tmp_path)
    page = text("tutorial.md")
    (gateway,) = re.findall(r"```yaml\n(# gateway.yaml\n.*?)```", page, re.DOTALL)
    (tmp_path / "gateway.yaml").write_text(gateway.replace("rules: [my-rules]\n", ""))
    for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL):
        for command in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, shown = command.partition("\n")
            program, *words = shlex.split(line, comments=True)
            if program != "faultwise" or words[0] == "serve":
                continue
            if words == ["check"]:
                (tmp_path / "gateway.yaml").write_text(gateway)
            assert main(words) == 0, line
            out = capsys.readouterr().out
            for piece in shown.strip().split("…"):
                assert piece.strip() in out, line
    broken = tmp_path / "my-rules" / "acme.yaml"
    broken.write_text(broken.read_text().replace("    reason:", "    reson:"))
    assert main(["check", "my-rules"]) == 1
    (said,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    assert said in capsys.readouterr().err
