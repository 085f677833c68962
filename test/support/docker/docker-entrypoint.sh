#!/bin/bash
# Prepares a ZooKeeper server as the official image does, told by the same variables, users and paths: a zoo.cfg that is
# there already is left alone, and root becomes the user zookeeper.
set -euo pipefail

if [ "${1:-}" = zkServer.sh ] && [ "$(id -u)" -eq 0 ]; then
  chown -R zookeeper "$ZOO_DATA_DIR" "$ZOO_DATA_LOG_DIR"
  exec setpriv --reuid=zookeeper --regid=zookeeper --clear-groups "$0" "$@"
fi

if [ ! -f "$ZOO_CONF_DIR/zoo.cfg" ]; then
  cat > "$ZOO_CONF_DIR/zoo.cfg" << END
dataDir=$ZOO_DATA_DIR
dataLogDir=$ZOO_DATA_LOG_DIR
tickTime=${ZOO_TICK_TIME:-2000}
initLimit=${ZOO_INIT_LIMIT:-5}
syncLimit=${ZOO_SYNC_LIMIT:-2}
maxClientCnxns=${ZOO_MAX_CLIENT_CNXNS:-60}
admin.enableServer=${ZOO_ADMINSERVER_ENABLED:-true}
4lw.commands.whitelist=${ZOO_4LW_COMMANDS_WHITELIST:-srvr}
$(printf '%s\n' ${ZOO_SERVERS:-server.1=localhost:2888:3888;2181} ${ZOO_CFG_EXTRA:-})
END
fi

[ -f "$ZOO_DATA_DIR/myid" ] || echo "${ZOO_MY_ID:-1}" > "$ZOO_DATA_DIR/myid"
exec "$@"
