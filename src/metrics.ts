import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** What the process counts of its own work, for Prometheus. No label names a tenant, or anything that is one's. */
export interface Metrics {
  /** Seconds from when a watch was due to the start of its check. */
  readonly lateness: Histogram
  readonly probes: Counter<'kind' | 'outcome'>
  readonly inFlight: Gauge
  readonly flushSeconds: Histogram
  readonly flushSize: Histogram
  /** Results that were lost. */
  readonly dropped: Counter
  /** Attempts to deliver messages to subscribers. */
  readonly deliveries: Counter<'channel' | 'outcome'>
  /** All of it as text in Prometheus' exposition format, of the media type `contentType`. */
  text(): Promise<string>
  readonly contentType: string
}

/** Whether each blacklist is in use, by its id. */
type ListStates = () => readonly { readonly id: string; readonly healthy: boolean }[]

/** The counters of one service, all at zero. */
export function createMetrics(lists: ListStates = () => []): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  new Gauge({
    name: 'allclear_blacklist_healthy',
    help: 'Whether a blacklist answers as it should: 1, or 0.',
    labelNames: ['list'],
    registers,
    collect() {
      for (const { id, healthy } of lists()) this.set({ list: id }, Number(healthy))
    },
  })
  return {
    lateness: new Histogram({
      name: 'allclear_check_lateness_seconds',
      help: 'Time from when a monitor was due to the start of its check.',
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
      registers,
    }),
    probes: new Counter({
      name: 'allclear_checks_total',
      help: 'Checks of monitors, by kind and outcome.',
      labelNames: ['kind', 'outcome'],
      registers,
    }),
    inFlight: new Gauge({ name: 'allclear_checks_in_flight', help: 'Checks that are under way.', registers }),
    flushSeconds: new Histogram({
      name: 'allclear_results_write_seconds',
      help: 'Time that writing a batch of results took.',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
      registers,
    }),
    flushSize: new Histogram({
      name: 'allclear_results_written',
      help: 'Results in a batch.',
      buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500],
      registers,
    }),
    dropped: new Counter({
      name: 'allclear_results_lost_total',
      help: 'Results that could not be stored.',
      registers,
    }),
    deliveries: new Counter({
      name: 'allclear_deliveries_total',
      help: 'Attempts to deliver messages to subscribers, by channel and outcome.',
      labelNames: ['channel', 'outcome'],
      registers,
    }),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
