#!/bin/sh
# Runs one ZooKeeper server, told by the same variables as the official image, from Debian's jars.
set -eu
mkdir -p /data
{
  echo "tickTime=${ZOO_TICK_TIME:-2000}"
  echo "dataDir=/data"
  echo "clientPort=2181"
  echo "maxClientCnxns=${ZOO_MAX_CLIENT_CNXNS:-60}"
  echo "4lw.commands.whitelist=${ZOO_4LW_COMMANDS_WHITELIST:-srvr}"
  echo "admin.enableServer=${ZOO_ADMINSERVER_ENABLED:-true}"
  for line in ${ZOO_CFG_EXTRA:-}; do echo "$line"; done
} > /zoo.cfg
jars=/usr/share/java
exec java -Xmx512m -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
  -cp "$jars/zookeeper.jar:$jars/zookeeper-jute.jar:$jars/slf4j-simple.jar" \
  org.apache.zookeeper.server.ZooKeeperServerMain /zoo.cfg
