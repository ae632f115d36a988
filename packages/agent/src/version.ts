import agentPackage from '../package.json' with { type: 'json' };

export const agentVersion: string = agentPackage.version;
