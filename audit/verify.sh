#!/usr/bin/env bash
# Check one log with sha256sum and openssl alone: verify.sh DIR LOG_ID [PUBLIC.pem]
# The chain (each line carries the hash of the line before it), the RFC 6962 root over the lines, and the signature of
# the checkpoint beside the log. Slow (some milliseconds a line): for a sample, or for not trusting verify.py either.
# Exit: 0 valid to the checkpoint, 3 end unproven, 4 broken.
set -euo pipefail
export LC_ALL=C
dir=$1 log=$2 key=${3:-$1/$2.pub.pem}
note=$dir/$log.checkpoint
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sha() { sha256sum | cut -d' ' -f1; }
escaped() { sed 's/../\\x&/g' <<<"$1"; }

size=$(sed -n 2p "$note")
want=$(sed -n 3p "$note" | base64 -d | od -An -v -tx1 | tr -d ' \n')
head -n 3 "$note" >"$work/body"
sed -n 5p "$note" | cut -d' ' -f3 | base64 -d | tail -c 64 >"$work/signature"
openssl pkeyutl -verify -pubin -inkey "$key" -rawin -in "$work/body" -sigfile "$work/signature" >/dev/null ||
  { echo "$log: the checkpoint's signature does not hold"; exit 4; }

prev=$(printf '0%.0s' {1..64})
seq=0
peaks=()
while IFS= read -r line || [ -n "$line" ]; do
  [ "$seq" -lt "$size" ] || break
  case $line in
    *"\"prev\":\"sha256:$prev\"}") ;;
    *) echo "$log: broken at seq $seq"; exit 4 ;;
  esac
  prev=$(printf '%s' "$line" | sha)
  node=$({ printf '\0'; printf '%s' "$line"; } | sha)
  for ((carry = seq; carry & 1; carry >>= 1)); do
    node=$(printf '%b' "\\x01$(escaped "${peaks[-1]}$node")" | sha)
    unset 'peaks[-1]'
  done
  peaks+=("$node")
  seq=$((seq + 1))
done < <(for file in "$dir/$log".[0-9]*.jsonl*; do
  case $file in *.zst) zstd -dcq "$file" ;; *) cat "$file" ;; esac
done)
[ "$seq" -eq "$size" ] || { echo "$log: valid prefix, end unproven: $seq of $size records are here"; exit 3; }

root=${peaks[-1]}
for ((at = ${#peaks[@]} - 2; at >= 0; at--)); do
  root=$(printf '%b' "\\x01$(escaped "${peaks[$at]}$root")" | sha)
done
[ "$root" = "$want" ] || { echo "$log: the checkpoint is of another history"; exit 4; }
echo "$log: valid to checkpoint $size"
