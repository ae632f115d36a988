/** The snap's own files, its data of the revision in use, and its data of all revisions. */
export const snap = '/snap/microk8s/current';
export const snapData = '/var/snap/microk8s/current';
export const snapCommon = '/var/snap/microk8s/common';

export const microk8sProgram = '/snap/bin/microk8s';
export const microk8sSnapYaml = `${snap}/meta/snap.yaml`;
export const microk8sKubeletArgs = `${snapData}/args/kubelet`;
export const microk8sSocket = `${snapCommon}/run/containerd.sock`;
/** A worker that was joined to a cluster has both. */
export const microk8sWorkerMarks = [`${snapData}/var/lock/clustered.lock`, `${snapData}/var/lock/ha-cluster`];
