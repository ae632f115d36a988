/** Only together, and only at one version. In the order in which they rest on each other. */
export const toolkitPackages = [
  'libnvidia-container1',
  'libnvidia-container-tools',
  'nvidia-container-toolkit-base',
  'nvidia-container-toolkit',
] as const;
