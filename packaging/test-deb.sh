#!/usr/bin/env bash
# Builds the Debian package from the release binary and takes it through its life in a root of its
# own: install, what is where, run, remove, purge. Needs root (chroot), dpkg, cargo-deb and
# busybox-static; says so and ends with 77 where one is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "FAIL: $*" >&2; exit 1; }
for tool in dpkg dpkg-deb chroot cargo-deb; do
    command -v "$tool" > /dev/null || { echo "skipped: $tool is not here"; exit 77; }
done
busybox=$(command -v busybox || true)
[ -n "$busybox" ] || { echo "skipped: busybox-static is not here"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "skipped: not root"; exit 77; }
[ -x target/release/arbiterd ] || cargo build --release --locked

work=$(mktemp -d)
daemon=
trap '[ -z "$daemon" ] || kill "$daemon" 2> /dev/null || true; rm -rf "$work"' EXIT
cargo deb --no-build --no-strip --quiet --output "$work/arbiterd.deb"
dpkg-deb --info "$work/arbiterd.deb" | sed -n '1,20p'

# The least a package can be installed into: a shell, the C library, the users' lists.
root=$work/root
mkdir -p "$root"/{bin,usr/bin,usr/sbin,sbin,etc,tmp,dev,proc,var/lib/dpkg/{info,updates},lib,lib64}
touch "$root/var/lib/dpkg/status" "$root/var/lib/dpkg/available"
cp "$busybox" "$root/bin/busybox"
for applet in sh grep mkdir chown chmod rmdir echo; do ln -s busybox "$root/bin/$applet"; done
printf 'root:x:0:0::/:/bin/sh\narbiterd:x:990:990::/var/lib/arbiterd:/bin/false\n' > "$root/etc/passwd"
printf 'root:x:0:\ndialout:x:20:arbiterd\narbiterd:x:990:\n' > "$root/etc/group"
ldd target/release/arbiterd | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
done

into=(dpkg --root="$root" --force-depends --force-unsafe-io --log=/dev/null)
before=$(cd "$root" && find . \( -path ./var/lib/dpkg -o -path ./tmp -o -path ./dev \) -prune -o -print | sort)
"${into[@]}" --install "$work/arbiterd.deb" > "$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log"; fail "install"; }
for file in usr/bin/arbiterd usr/lib/systemd/system/arbiterd.service usr/lib/sysusers.d/arbiterd.conf \
    usr/lib/tmpfiles.d/arbiterd.conf usr/lib/udev/rules.d/70-arbiterd.rules etc/arbiterd/arbiterd.toml \
    usr/share/doc/arbiterd/README.md usr/share/doc/arbiterd/copyright usr/share/doc/arbiterd/examples/arbiterd.toml; do
    [ -e "$root/$file" ] || fail "$file is not installed"
done
[ "$(stat -c %a "$root/etc/arbiterd/arbiterd.toml")" = 640 ] || fail "the configuration may be read by all"
[ "$(stat -c %u "$root/var/lib/arbiterd")" = 990 ] || fail "the folder of the journal is not the daemon's"
chroot "$root" /usr/bin/arbiterd --version
chroot "$root" /usr/bin/arbiterd run --check --config /etc/arbiterd/arbiterd.toml || fail "the configuration"

# It runs as its own user, on free ports, and stops when told.
sed 's/127.0.0.1:808[01]/127.0.0.1:0/' "$root/etc/arbiterd/arbiterd.toml" > "$root/tmp/test.toml"
chmod 644 "$root/tmp/test.toml"
chroot --userspec=990:990 "$root" /usr/bin/arbiterd run --config /tmp/test.toml > "$work/out" 2> "$work/err" &
daemon=$!
for _ in $(seq 300); do grep -q '^public' "$work/out" && break; sleep 0.1; done
desk=$(sed -n 's#^desk *http://\([^/]*\)/.*#\1#p' "$work/out")
[ -n "$desk" ] || { cat "$work/err"; fail "it does not start"; }
exec 3<> "/dev/tcp/${desk%:*}/${desk#*:}"
printf 'GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n' >&3
grep -q '200 OK' <&3 || fail "it does not answer"
exec 3>&-
kill -TERM "$daemon"
wait "$daemon" || fail "it does not stop cleanly: $?"
daemon=
[ -s "$root/var/lib/arbiterd/arbiterd.sqlite" ] || fail "no journal was made"

"${into[@]}" --remove arbiterd > "$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log"; fail "remove"; }
[ ! -e "$root/usr/bin/arbiterd" ] || fail "the program is still there"
[ -e "$root/var/lib/arbiterd/arbiterd.sqlite" ] || fail "the journal was removed"
"${into[@]}" --purge arbiterd > "$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log"; fail "purge"; }
[ -e "$root/var/lib/arbiterd/arbiterd.sqlite" ] || fail "the journal was purged: it is the record of a tournament"
rm -rf "$root/var/lib/arbiterd"
after=$(cd "$root" && find . \( -path ./var/lib/dpkg -o -path ./tmp -o -path ./dev \) -prune -o -print | sort)
diff <(echo "$before") <(echo "$after" ) > "$work/left" || true
if grep -q '^>' "$work/left"; then
    # Folders of the system's own skeleton may stay; nothing of the package.
    grep '^>' "$work/left" | grep -E 'arbiterd' && fail "something of the package was left"
fi
echo "the package installs, runs and goes"
