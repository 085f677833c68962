#!/bin/bash
# Runs one ZooKeeper server in the foreground, from Debian's jars, with the heap that the official script takes.
set -euo pipefail
[ "${1:-}" = start-foreground ] || { echo "zkServer.sh: only start-foreground is here" >&2; exit 1; }
jars=/usr/share/java
exec java "-Xmx${ZK_SERVER_HEAP:-1000}m" -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
  -cp "$jars/zookeeper.jar:$jars/zookeeper-jute.jar:$jars/slf4j-simple.jar" \
  org.apache.zookeeper.server.quorum.QuorumPeerMain "$ZOO_CONF_DIR/zoo.cfg"
