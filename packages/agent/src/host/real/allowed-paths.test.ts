import { expect, test } from 'vitest';
import { ALLOWED_PATHS, isAllowedPath, isOnAllowedWay } from './allowed-paths.ts';

test.each([
  '/etc/docker/daemon.json',
  '/etc/containerd/conf.d/99-nvidia.toml',
  '/etc/rancher/k3s/config.yaml.d/50-gpufleet.yaml',
  '/var/lib/rancher/k3s/agent/etc/containerd/config.toml.tmpl',
  '/var/snap/microk8s/6809/args/containerd-template.toml',
  '/run/cdi/nvidia.yaml',
  '/var/lib/rancher/k3s/server/manifests/gpufleet-nvidia-device-plugin.yaml',
  '/home/user1/.config/nvidia-container-runtime/config.toml',
  '/usr/local/nvidia/toolkit/.config/nvidia-container-runtime/config.toml',
  '/etc/systemd/system/k3s.service.d/50-gpufleet.conf',
  '/etc/modules-load.d/gpufleet.conf',
  '/etc/apt/sources.list.d/nvidia-container-toolkit.list',
  '/etc/apt/sources.list.d/libnvidia-container.list',
  '/etc/apt/sources.list.d/cuda-ubuntu2204-x86_64.list',
  '/etc/apt/keyrings/nvidia-container-toolkit.asc',
  '/etc/yum.repos.d/nvidia-container-toolkit.repo',
  '/etc/gpufleet/mig.json',
  '/etc/systemd/system/gpufleet-mig.service',
  '/etc/udev/rules.d/71-gpufleet-nvidia.rules',
  '/var/lib/nvpmodel/status',
])('jobs may write %s', (path) => {
  expect(isAllowedPath(path)).toBe(true);
});

test.each([
  '/etc/passwd',
  '/etc/docker',
  '/etc/docker/',
  '/etc/dockerx/daemon.json',
  '/etc/systemd/system/k3s.service',
  '/etc/systemd/system/gpufleet.conf',
  '/etc/systemd/system/gpufleet-agent.service',
  '/etc/gpufleet/policy.json',
  '/etc/systemd/system/a.d/b/gpufleet.conf',
  '/etc/modprobe.d/nvidia.conf',
  '/var/lib/rancher/k3s/server/manifests/traefik.yaml',
  '/etc/udev/rules.d/71-nvidia.rules',
  '/var/snap/microk8s/a/b/args/containerd-template.toml',
  '/home/user1/.config/nvidia-container-runtime/other.toml',
  '/home/a/b/.config/nvidia-container-runtime/config.toml',
  '/usr/local/nvidia/toolkit/nvidia-container-runtime',
  '/tmp/etc/docker/daemon.json',
  '/etc/apt/sources.list',
  '/etc/apt/sources.list.d/ubuntu.sources',
  '/etc/apt/keyrings/docker.asc',
  '/etc/apt/trusted.gpg.d/nvidia.asc',
  '/etc/yum.repos.d/rocky.repo',
  '',
])('jobs may not write %s', (path) => {
  expect(isAllowedPath(path)).toBe(false);
});

test('every allowed path says why', () => {
  expect(ALLOWED_PATHS.filter(({ reason }) => reason.length < 10)).toEqual([]);
});

test.each([
  '/etc',
  '/etc/docker',
  '/etc/docker/certs.d',
  '/etc/systemd/system/k3s.service.d',
  '/var/snap/microk8s/6809',
])('a job may have made the folder %s', (folder) => {
  expect(isOnAllowedWay(folder)).toBe(true);
});

test.each(['/', '/opt', '/etc/dockerx', '/etc/systemd/system/k3s.service', '/etc/modprobe.d/nvidia'])(
  'no job made the folder %s',
  (folder) => {
    expect(isOnAllowedWay(folder)).toBe(false);
  },
);
