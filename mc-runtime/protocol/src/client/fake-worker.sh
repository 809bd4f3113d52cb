#!/bin/sh
# A worker for the tests of the client: says what the name of the test asks for.
progress() { echo "{\"progress\":{\"executions\":$1,\"blocked\":1,\"estimate\":null,\"frontier\":0}}"; }
done_with() { echo "{\"done\":{\"verdict\":\"$1\",\"executions\":$2,\"blocked\":0,\"bounds\":[],\"failures\":[],\"frontier\":0,\"seconds\":0.1}}"; }
failure() { echo '{"failure":{"kind":"crash","message":"SIGSEGV","thread":"main","site":null,"schedule":"mc1.abc","execution":41}}'; }
event() { echo '{"trace":{"thread":0,"name":null,"text":"spawn T1","site":null,"note":null,"culprit":false}}'; }

case "$1" in
--list)
    echo '{"tests":{"tests":[{"name":"queue::spsc","file":"src/queue.rs","line":3,"ignored":false,"options":[["seed","1"]]}]}}'
    exit 0 ;;
ordinary) echo "running 1 test"; exit 0 ;;
esac

echo '"started"'
case "$1" in
proved) progress 3; done_with proved 7 ;;
segfault) progress 40; failure; kill -SEGV $$ ;;
killed) progress 40; kill -KILL $$ ;;
exits) exit 3 ;;
again) progress 40; failure; echo '"again"'; progress 3; kill -KILL $$ ;;
stoppable) trap 'done_with interrupted 5; exit 0' INT; progress 1; while :; do sleep 0.01; done ;;
deaf) trap '' INT; progress 9; while :; do sleep 0.01; done ;;
refused) echo '{"error":{"message":"the schedule is damaged","exit_code":122}}'; exit 1 ;;
newer) echo '"sparkle"'; exit 0 ;;
replayed) event; echo '{"replayed":"passed"}' ;;
aborts) event; kill -ABRT $$ ;;
esac
