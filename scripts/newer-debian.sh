# Sourced by the scripts that need a package of a newer Debian than this one. Packages come from the mirror that this
# machine uses and are unpacked into a folder: nothing is installed, and no source of the machine is touched.
# The script that sources it has a temporary folder $work, and say and not_here, which ends it.

readonly newer_debian=trixie

# mirror: the one that this machine's apt uses for Debian.
mirror() { apt-get indextargets --format '$(SITE)' 'Identifier: Packages' 'Label: Debian' 2> /dev/null | head -1; }

# A world of its own for apt: its lists, its cache, and a machine on which nothing is installed.
newer_apt() {
  apt-get -qq -o "Dir::Etc::SourceList=$work/newer/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o "Dir::State::Lists=$work/newer/lists" -o "Dir::State::Status=$work/newer/status" -o "Dir::Cache=$work/newer/cache" \
    -o Acquire::Languages=none -o APT::Sandbox::User=root "$@"
}

# unpack_newer <folder> <package...>
unpack_newer() {
  local folder=$1 site package
  shift
  for command in apt-get dpkg-deb; do command -v "$command" > /dev/null || not_here "there is no $command"; done
  mkdir -p "$folder" "$work"/newer/{lists/partial,cache/archives/partial,packages}
  site=$(mirror)
  [ -n "$site" ] || { apt-get update -qq > "$work/apt.log" 2>&1; site=$(mirror); }
  [ -n "$site" ] || not_here "apt knows no mirror of Debian"
  : > "$work/newer/status"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $site $newer_debian main" > "$work/newer/sources.list"

  say "fetching $* of $newer_debian from $site"
  newer_apt update > "$work/apt.log" 2>&1 && (cd "$work/newer/packages" && newer_apt download "$@") >> "$work/apt.log" 2>&1 ||
    { tail -5 "$work/apt.log" >&2; not_here "apt-get cannot fetch $*"; }
  for package in "$work"/newer/packages/*.deb; do
    dpkg-deb -x "$package" "$folder" || not_here "dpkg-deb cannot unpack $package"
  done
}
