import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The process's own metrics; a registry of its own, so that two servers in one process do not meet. */
export interface Metrics {
  registry: Registry;
  /** `gpufleet_agent_messages_total{type}`, by type; added up at a scrape, so that a message costs one addition. */
  agentMessages: Map<string, number>;
  /** `gpufleet_agent_sessions_ended_total{because}` */
  sessionsEnded: Counter<'because'>;
  /** `gpufleet_http_requests_total{method,route,status}` */
  httpRequests: Counter<'method' | 'route' | 'status'>;
  httpSeconds: Histogram<'method' | 'route'>;
  /** `gpufleet_loop_runs_total{loop,outcome}`: outcome is `ok` or `failed`. */
  loopRuns: Counter<'loop' | 'outcome'>;
  /** A value that is asked for at each scrape. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void;
  /** One value for each value of a label. */
  gaugeBy(name: string, help: string, label: string, read: () => Promise<Readonly<Record<string, number>>>): void;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const agentMessages = new Map<string, number>();
  new Counter({
    name: 'gpufleet_agent_messages_total',
    help: 'Messages received from agents, by type.',
    labelNames: ['type'],
    registers,
    collect() {
      this.reset();
      for (const [type, count] of agentMessages) this.inc({ type }, count);
    },
  });
  return {
    registry,
    agentMessages,
    sessionsEnded: new Counter({
      name: 'gpufleet_agent_sessions_ended_total',
      help: 'Agent sessions that ended, by reason.',
      labelNames: ['because'],
      registers,
    }),
    httpRequests: new Counter({
      name: 'gpufleet_http_requests_total',
      help: 'HTTP requests answered, by method, route and status.',
      labelNames: ['method', 'route', 'status'],
      registers,
    }),
    httpSeconds: new Histogram({
      name: 'gpufleet_http_request_seconds',
      help: 'Time to answer an HTTP request.',
      labelNames: ['method', 'route'],
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2],
      registers,
    }),
    loopRuns: new Counter({
      name: 'gpufleet_loop_runs_total',
      help: 'Runs of the background loops, by outcome.',
      labelNames: ['loop', 'outcome'],
      registers,
    }),
    gauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          this.set(await read());
        },
      });
    },
    gaugeBy(name, help, label, read) {
      new Gauge({
        name,
        help,
        labelNames: [label],
        registers,
        async collect() {
          for (const [value, n] of Object.entries(await read())) this.set({ [label]: value }, n);
        },
      });
    },
  };
}
