import { expect, test } from 'vitest';
import { startTestServer } from './testing/start-test-server.ts';
import { anIdentity, connectTestAgent, enrollTestHost } from './testing/test-agent.ts';

test('a host enrols, connects and is online', async () => {
  const server = await startTestServer();
  const identity = anIdentity();
  const { hostId } = await enrollTestHost(server, identity);
  const agent = connectTestAgent(server, hostId, identity);
  const welcome = await agent.greet();
  expect(welcome.serverEpoch).toBe(1);
  expect((await server.call('GET', `/hosts/${hostId}`)).body).toMatchObject({
    online: true,
    name: 'host-1',
    siteId: 'site-a',
  });
  await server.stop();
});
