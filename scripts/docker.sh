# Sourced by scripts/testcontainers: a Docker daemon, an image of ZooKeeper, and Compose, without a registry.

readonly cannot_run=75
readonly work=$(mktemp -d "${TMPDIR:-/tmp}/zookeeper-docker.XXXXXX")
readonly image="nestjs-zookeeper-lock-test:$$"
daemon_pid=
images_made=()
compose=

say() { echo "[docker] $*" >&2; }

not_here() {
  say "cannot run: $*"
  exit "$cannot_run"
}

failed() {
  say "failed: $*"
  exit 1
}

# Ours alone: containers of an existing daemon belong to somebody else.
clean_up() {
  for made in "${images_made[@]}"; do docker image rm --force "$made" > "$work/image-rm.log" 2>&1; done
  if [ -n "$daemon_pid" ]; then stop_daemon; fi
  rm -rf --one-file-system "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# install_missing <daemon?>: what the image takes and, where a daemon is to be started, what that takes.
install_missing() {
  local missing=()
  if [ -n "$1" ]; then
    command -v dockerd > /dev/null && command -v docker > /dev/null || missing+=(docker.io)
    command -v iptables > /dev/null || missing+=(iptables)
    command -v ip > /dev/null || missing+=(iproute2)
  fi
  command -v debootstrap > /dev/null || missing+=(debootstrap)
  [ ${#missing[@]} -eq 0 ] && return
  command -v apt-get > /dev/null || not_here "no ${missing[*]} and no apt-get to install them"
  say "apt-get install ${missing[*]}"
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -y -qq)
  "${apt[@]}" update > "$work/apt.log" 2>&1 &&
    # The package starts the system's daemon where there is an init system; here it must not.
    RUNLEVEL=1 "${apt[@]}" install --no-install-recommends "${missing[@]}" >> "$work/apt.log" 2>&1 ||
    { tail -5 "$work/apt.log" >&2; not_here "apt-get install ${missing[*]} failed"; }
}

start_daemon() {
  [ "$(id -u)" -eq 0 ] || not_here "no Docker daemon answers, and starting one takes root"
  install_missing daemon
  say "no Docker daemon answers: starting one"
  # A daemon sets up forwarding rules and a bridge and leaves them behind; clean_up puts back what was there.
  iptables-save > "$work/iptables" 2> /dev/null || rm -f "$work/iptables"
  ip link show docker0 > /dev/null 2>&1 && touch "$work/had-bridge"
  export DOCKER_HOST="unix://$work/docker.sock"
  dockerd --host "$DOCKER_HOST" --data-root "$work/data" --exec-root "$work/exec" --pidfile "$work/dockerd.pid" \
    --storage-driver vfs > "$work/dockerd.log" 2>&1 &
  daemon_pid=$!
  for _ in $(seq 120); do
    docker info > /dev/null 2>&1 && return
    kill -0 "$daemon_pid" 2> /dev/null || break
    sleep 0.25
  done
  grep -vE 'level=(info|debug)' "$work/dockerd.log" | tail -5 >&2
  not_here "dockerd does not start: $(grep -v 'level=' "$work/dockerd.log" | tail -1)"
}

stop_daemon() {
  kill "$daemon_pid" 2> /dev/null
  wait "$daemon_pid" 2> /dev/null
  [ -e "$work/had-bridge" ] || ip link delete docker0 2> /dev/null
  [ -e "$work/iptables" ] && iptables-restore < "$work/iptables"
  grep -o "$work[^ ]*" /proc/mounts | sort -r | while read -r mount; do umount "$mount"; done
}

make_image() {
  local site
  site=$(apt-get indextargets --format '$(SITE)' 'Identifier: Packages' 'Origin: Debian' 2> /dev/null | head -1)
  say "making an image with debootstrap from ${site:=http://deb.debian.org/debian}"
  debootstrap --variant=minbase --include=libzookeeper-java,openjdk-17-jre-headless bookworm "$work/root" "$site" \
    > "$work/debootstrap.log" 2>&1 || { tail -5 "$work/debootstrap.log" >&2; not_here "debootstrap failed"; }
  rm -rf "$work"/root/var/{cache/apt/archives/*.deb,lib/apt/lists/*} "$work"/root/usr/share/{doc,locale,man}
  chroot "$work/root" /usr/sbin/groupadd --gid 1000 zookeeper
  chroot "$work/root" /usr/sbin/useradd --uid 1000 --gid 1000 zookeeper
  install -d -o 1000 -g 1000 "$work"/root/{conf,data,datalog}
  install -m 755 -t "$work/root" test/support/docker/docker-entrypoint.sh
  install -m 755 -t "$work/root/usr/local/bin" test/support/docker/zkServer.sh
  tar -C "$work/root" -c . | docker import --change 'ENTRYPOINT ["/docker-entrypoint.sh"]' \
    --change 'CMD ["zkServer.sh", "start-foreground"]' --change 'EXPOSE 2181 2888 3888' \
    --change 'ENV ZOO_CONF_DIR=/conf ZOO_DATA_DIR=/data ZOO_DATA_LOG_DIR=/datalog' - "$image" \
    > "$work/import.log" 2>&1 || not_here "docker import: $(tail -1 "$work/import.log")"
  images_made+=("$image")
  docker run --rm --entrypoint /bin/true "$image" > "$work/run.log" 2>&1 ||
    not_here "the daemon cannot run a container: $(tail -1 "$work/run.log")"
  rm -rf "$work/root"
}

# find_compose: sets $compose to the command that runs Compose.
find_compose() {
  compose='docker compose'
  docker compose version > "$work/compose.log" 2>&1 && return
  # This Debian has version 1, which nobody has used for years.
  unpack_newer "$work/compose" docker-compose
  compose=$work/compose/usr/libexec/docker/cli-plugins/docker-compose
  "$compose" version >&2 || not_here "the fetched docker-compose does not run"
}

# tag_as_official: the name in the Compose file means the image that was made, unless the daemon has one of that name.
tag_as_official() {
  local official=zookeeper:3.9
  if docker image inspect "$official" > "$work/inspect.log" 2>&1; then
    say "$official is the one that the daemon has"
    return
  fi
  docker tag "$image" "$official" || failed "docker tag"
  images_made+=("$official")
}
