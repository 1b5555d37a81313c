#!/usr/bin/env bash
# For TIRA: run.sh -i INPUT_DIR -o OUTPUT_DIR [more options of `sicetnon run`]
# The directories are those of TIRA_INPUT_DATASET and TIRA_OUTPUT_DIR unless they are named.
# The task is touche-2020-task-1 unless SICETNON_TASK names another.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
program="$here/.venv/bin/sicetnon"
[ -x "$program" ] || program=sicetnon
exec "$program" run "${SICETNON_TASK:-touche-2020-task-1}" "$@"
