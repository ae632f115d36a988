import type { SimulatedGpu } from './gpu.ts';
import type { Generation } from './smi-xml.ts';
import { lostText } from './smi-xml-health.ts';
import { all, type Element, when } from './xml.ts';

const na = 'N/A';

/** From power to processes. */
export function powerElements(gpu: SimulatedGpu, generation: Generation): Element[] {
  return [...power(gpu, generation), ...clocks(gpu, generation), ...fabric(gpu, generation), ...work(gpu, generation)];
}

function power(gpu: SimulatedGpu, generation: Generation): Element[] {
  const { model } = gpu;
  const watts = (value: number) => (model.kind === 'discrete' ? `${value}.00 W` : na);
  const draws = generation >= 570 ? ['average_power_draw', 'instant_power_draw'] : ['power_draw'];
  const limits = [
    'current_power_limit',
    'requested_power_limit',
    'default_power_limit',
    'min_power_limit',
    'max_power_limit',
  ];
  const state = model.kind === 'discrete' ? model.idleState : na;
  return [
    [
      'gpu_power_readings',
      [
        ['power_state', state],
        ...all(gpu.lost ? lostText : watts(model.idlePowerW), ...draws),
        ...limits.map(
          (name): Element => [name, watts(name === 'min_power_limit' ? model.minPowerW : model.powerLimitW)],
        ),
      ],
    ],
    ...when(generation >= 550, ['gpu_memory_power_readings', all(na, ...draws)]),
    ['module_power_readings', [['power_state', state], ...all(na, ...draws, ...limits)]],
    ...when(
      generation >= 570,
      ['power_smoothing', na],
      ['power_profiles', all(na, 'power_profile_requested_profiles', 'power_profile_enforced_profiles')],
    ),
  ];
}

function clocks(gpu: SimulatedGpu, generation: Generation): Element[] {
  const { model, lost } = gpu;
  const discrete = model.kind === 'discrete';
  const mhz = (value: number) => (discrete ? `${value} MHz` : na);
  const now = (value: number) => (lost ? lostText : mhz(value));
  const top = mhz(model.maxGraphicsMhz);
  const memory = mhz(model.memoryMhz);
  const idleMemory = model.idleState === 'P8' ? 405 : model.memoryMhz;
  return [
    [
      'clocks',
      [...all(now(210), 'graphics_clock', 'sm_clock'), ['mem_clock', now(idleMemory)], ['video_clock', now(585)]],
    ],
    [
      'applications_clocks',
      [
        ['graphics_clock', top],
        ['mem_clock', memory],
      ],
    ],
    [
      'default_applications_clocks',
      [
        ['graphics_clock', top],
        ['mem_clock', memory],
      ],
    ],
    ['deferred_clocks', [['mem_clock', na]]],
    [
      'max_clocks',
      [
        ...all(top, 'graphics_clock', 'sm_clock'),
        ['mem_clock', memory],
        ['video_clock', mhz(model.maxGraphicsMhz - 120)],
      ],
    ],
    ['max_customer_boost_clocks', [['graphics_clock', top]]],
    ['clock_policy', all(na, 'auto_boost', 'auto_boost_default')],
    ...when(generation < 580, ['voltage', [['graphics_volt', na]]]),
  ];
}

function fabric(gpu: SimulatedGpu, generation: Generation): Element[] {
  const value = gpu.lost ? lostText : na;
  const joined = gpu.lost || !gpu.fabric ? null : gpu.fabric === 'completed' ? 'Completed' : 'In Progress';
  const health = [
    ...(generation >= 580 ? ['summary'] : []),
    'bandwidth',
    ...(generation >= 570 ? ['route_recovery_in_progress', 'route_unhealthy', 'access_timeout_recovery'] : []),
    ...(generation >= 580 ? ['incorrect_configuration'] : []),
  ];
  return [
    [
      'fabric',
      [
        ['state', joined ?? value],
        ['status', joined === 'Completed' ? 'Success' : value],
        ...when(
          generation >= 550,
          ['cliqueId', joined === 'Completed' ? '0' : value],
          ['clusterUuid', joined === 'Completed' ? '00000000-0000-0000-0000-000000000000' : value],
          ['health', all(value, ...health)],
        ),
      ],
    ],
  ];
}

function work(gpu: SimulatedGpu, generation: Generation): Element[] {
  const { model } = gpu;
  const steps = Math.floor((model.maxGraphicsMhz - 210) / 15);
  const processes = gpu.clients.map(
    (client): Element => [
      'process_info',
      [
        ['gpu_instance_id', client.gpuInstanceId === null ? na : String(client.gpuInstanceId)],
        ['compute_instance_id', client.gpuInstanceId === null ? na : '0'],
        ['pid', String(client.pid)],
        ['type', 'C'],
        ['process_name', client.name],
        ['used_memory', `${client.usedMiB} MiB`],
      ],
    ],
  );
  return [
    [
      'supported_clocks',
      model.kind === 'discrete'
        ? [
            [
              'supported_mem_clock',
              [
                ['value', `${model.memoryMhz} MHz`],
                ...Array.from(
                  { length: steps + 1 },
                  (_, at): Element => ['supported_graphics_clock', `${model.maxGraphicsMhz - at * 15} MHz`],
                ),
              ],
            ],
          ]
        : na,
    ],
    ['processes', processes.length ? processes : null],
    ['accounted_processes', null],
    ...when(generation >= 570, ['capabilities', [['egm', model.kind === 'discrete' ? 'disabled' : na]]]),
  ];
}
