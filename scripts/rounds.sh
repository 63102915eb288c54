#!/bin/sh
# make rounds N=10 LOOPS=4 calls scripts/rounds.sh N [LOOPS]. It runs the tests of make test N times beside LOOPS busy loops (default: four), and prints
# a line for each part. A test that depends on the speed of the machine fails here. The output of a part that
# failed stays in build/rounds. It exits 1 if any part failed.
set -u
export STACKAGENT_FRESH_SESSIONS=1
rounds=$1 loops=${2:-4} out=build/rounds busy='' failed=0
mkdir -p "$out"
for _ in $(seq "$loops"); do
	while :; do :; done &
	busy="$busy $!"
done
# shellcheck disable=SC2086 # one number each
trap 'kill $busy' EXIT
trap 'exit 1' INT TERM
for round in $(seq "$rounds"); do
	for part in unit jvmti race e2e; do
		log=$out/$round-$part.log began=$(date +%s)
		if make --no-print-directory GOFLAGS="${GOFLAGS:--buildvcs=false -trimpath} -count=1" "$part" >"$log" 2>&1; then
			result=ok
			rm -f "$log"
		else
			result="FAILED, see $log"
			failed=1
		fi
		echo "round $round of $rounds: $part $result, $(($(date +%s) - began)) s"
	done
done
exit $failed
