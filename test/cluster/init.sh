#!/bin/sh
# PID 1 of the node: gives its namespaces file systems, a network and a name of their own, says "ready", and becomes `pause`.
# Nothing outside sees what is done here, and the kernel takes all of it back with the last process.
#   init.sh FOLDER PAUSE ADDRESS NAME
set -eu
folder=$1 pause=$2 address=$3 name=$4

# Shared among the pods, as on a node; the parent namespace is not their peer.
mount --make-rshared /
# What daemons and pods write to is the node's own, /var/lib/kubelet with it.
for own in /run /var/lib /var/log; do mount -t tmpfs tmpfs "$own"; done
mkdir -p /run/cni /var/lib/kubelet

# The kubelet sets these for the whole machine: it finds files that already hold what it wants.
mkdir "$folder/sysctl"
while read -r key value; do
  [ -e "/proc/sys/$key" ] || continue
  file=$folder/sysctl/$(basename "$key")
  echo "$value" > "$file"
  mount --bind "$file" "/proc/sys/$key"
done << SYSCTLS
kernel/keys/root_maxbytes 25000000
kernel/keys/root_maxkeys 1000000
kernel/panic 10
kernel/panic_on_oops 1
vm/overcommit_memory 1
vm/panic_on_oom 0
SYSCTLS

# Nothing leaves loopback; but neither the API server nor the kubelet takes an address of 127.0.0.0/8 for a node's.
ip link set lo up
ip address add "$address/32" dev lo
echo "$name" > /proc/sys/kernel/hostname

echo ready
exec "$pause"
