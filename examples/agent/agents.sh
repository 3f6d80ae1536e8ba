#!/bin/bash
# Real clients through the proxy, while the first account misstates its quota: agents.sh [curl codex claude opencode gemini llm]
# Those that are not installed are skipped. Everything runs on this machine; what a client writes goes to a folder of its own,
# which KEEP=1 keeps; SHOW=1 prints what the two accounts were asked.
set -u
here=$(cd "$(dirname "$0")" && pwd)
port=${PORT:-4290} relay=${RELAY_PORT:-4291} main=${MAIN_PORT:-4292}
work=$(mktemp -d)
url=http://127.0.0.1:$port
faultwise=${FAULTWISE:-faultwise} python=${PYTHON:-python3}
export RELAY=http://127.0.0.1:$relay MAIN=http://127.0.0.1:$main NO_PROXY=127.0.0.1 no_proxy=127.0.0.1

"$python" "$here/upstream.py" "$relay" "$main" >>"$work/upstream" & upstream=$!
$faultwise serve --config "$here/gateway.yaml" --port "$port" 2>"$work/serve" & server=$!
trap 'kill $upstream $server 2>/dev/null; wait 2>/dev/null; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
for _ in $(seq 600); do curl -sf "$url/readyz" >/dev/null && break; sleep 0.1; done

run_curl() {
  curl -sN "$url/v1/chat/completions" -H 'content-type: application/json' \
    -d '{"model": "coding", "stream": true, "messages": [{"role": "user", "content": "hi"}]}' |
    sed -n 's/.*"content": "\([^"]*\)".*/\1/p' | tr -d '\n'
}
run_codex() {
  codex exec --skip-git-repo-check -m coding -c model_provider=faultwise \
    -c "model_providers.faultwise={name=\"faultwise\", base_url=\"$url/v1\", wire_api=\"responses\"}" hi
}
run_claude() {
  ANTHROPIC_BASE_URL=$url ANTHROPIC_API_KEY=any ANTHROPIC_DEFAULT_HAIKU_MODEL=coding \
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 claude -p hi --model coding
}
run_opencode() {
  cat >opencode.json <<EOF
{"provider": {"faultwise": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "$url/v1", "apiKey": "any"},
 "models": {"coding": {"name": "coding"}}}}}
EOF
  opencode run -m faultwise/coding hi
}
run_gemini() {
  mkdir -p "$HOME/.gemini"
  echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}}' >"$HOME/.gemini/settings.json"
  GOOGLE_GEMINI_BASE_URL=$url GEMINI_API_KEY=any GEMINI_CLI_TRUST_WORKSPACE=true gemini -m coding -p hi
}
run_llm() {
  export LLM_USER_PATH=$HOME/llm
  mkdir -p "$LLM_USER_PATH"
  printf -- '- {model_id: coding, model_name: coding, api_base: "%s/v1"}\n' "$url" >"$LLM_USER_PATH/extra-openai-models.yaml"
  OPENAI_API_KEY=any llm -m coding hi
}

failed=0
for one in ${*:-curl codex claude opencode gemini llm}; do
  command -v "$one" >/dev/null || { echo "$one: skipped, it is not installed"; continue; }
  curl -s -X POST "$url/api/resilience/reset" -H 'content-type: application/json' -d '{"all": true}' >/dev/null
  : >"$work/upstream"
  mkdir -p "$work/$one"
  answer=$(cd "$work/$one" && export HOME=$work/$one && timeout "${LIMIT:-120}" bash -c "$(declare -f "run_$one"); url=$url; run_$one" </dev/null 2>"$work/$one.err")
  asked=$(grep -c ^relay "$work/upstream")
  case $answer in
    *"Hello from the second account."*) echo "$one: completed; the relay was asked $asked time(s), then the second account" ;;
    *) echo "$one: FAILED: $answer $(tail -n 5 "$work/$one.err")"; failed=1 ;;
  esac
  [ -z "${SHOW:-}" ] || cat "$work/upstream"
done
exit $failed
