#!/bin/sh
# One failure in, its verdict out.
curl -fsS "${FAULTWISE_URL:-http://127.0.0.1:4290}/api/classify" \
  -H 'content-type: application/json' \
  -d '{"provider": "groq", "model": "m", "status": 413,
       "body": {"error": {"message": "tokens per minute (TPM): Limit 6000, Used 5900, Requested 400"}}}'
