import { expect, test } from 'vitest';
import { aGpu, aHost, withUnreadable } from '../testing/a-host.ts';
import { cannotTellOf, findingsOf } from '../testing/findings-of.ts';

const code = 'GPU_OFF_BUS';
const onBus = (address: string, driver: string | null = 'nvidia') => ({
  address,
  vendorId: '10de',
  deviceId: '2330',
  classCode: '030200',
  driver,
  driverOverride: null,
  configDead: false,
});
const twoOnBus = (gpus: ReturnType<typeof aGpu>[], attached = gpus.length, secondDriver: string | null = 'nvidia') =>
  aHost('x86_docker', {
    pci: (pci) => ({ ...pci, gpus: [onBus('0000:65:00.0'), onBus('0000:b3:00.0', secondDriver)] }),
    gpus: (fact) => ({ ...fact, attached, gpus }),
  });

test('tells a GPU of which nvidia-smi says that it is lost', () => {
  const [finding] = findingsOf(twoOnBus([aGpu(), aGpu({ index: 1, uuid: 'GPU-b', lost: true })]), code);
  expect(finding).toMatchObject({
    subject: 'gpu:GPU-b',
    severity: 'critical',
    remedy: { jobs: [{ kind: 'reboot_host', params: {} }], approval: 'approve' },
  });
});

test('tells a GPU that is bound to nvidia and not in the report, by its address', () => {
  const found = findingsOf(twoOnBus([aGpu()]), code);
  expect(found.map(({ subject }) => subject)).toEqual(['file:/sys/bus/pci/devices/0000:b3:00.0']);
});

test('tells it by the reason of an nvidia-smi that gives no report at all', () => {
  const said = 'Unable to determine the device handle for GPU 0000:B3:00.0: GPU is lost.  Reboot the system to recover';
  const [finding] = findingsOf(withUnreadable(aHost('x86_docker'), 'gpus', 'gpu_lost', said), code);
  expect(finding).toMatchObject({ subject: 'file:/sys/bus/pci/devices/0000:b3:00.0', evidence: [{ quote: said }] });
});

test('counts only GPUs that the nvidia driver holds', () => {
  expect(findingsOf(twoOnBus([aGpu()], 1, 'vfio-pci'), code)).toEqual([]);
  expect(findingsOf(twoOnBus([aGpu(), aGpu({ index: 1, pciBusId: '00000000:B3:00.0' })]), code)).toEqual([]);
});

test('cannot tell from a report that is cut, or without addresses', () => {
  expect(cannotTellOf(twoOnBus([aGpu()], 2), code)).toContain('the report is cut');
  expect(cannotTellOf(twoOnBus([aGpu({ pciBusId: null })]), code)).toContain('at which addresses');
  expect(findingsOf(twoOnBus([aGpu()], 2), code)).toEqual([]);
});
