import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { packageVersion } from '../process/package-version.ts'

/** The metrics of this process for Prometheus. No label identifies a tenant or its data. */
export interface Metrics {
  /** The seconds from when a watch was due to the start of its probe. */
  readonly lateness: Histogram
  readonly probes: Counter<'kind' | 'outcome'>
  readonly inFlight: Gauge
  readonly flushSeconds: Histogram
  readonly flushSize: Histogram
  /** Probe results that could not be stored. */
  readonly dropped: Counter
  /** Delivery attempts. */
  readonly deliveries: Counter<'channel' | 'outcome'>
  /** Rows deleted due to their age. */
  readonly deletedRows: Counter<'table'>
  /** Returns all metrics in Prometheus' exposition format. */
  text(): Promise<string>
  readonly contentType: string
}

/** Returns whether each blacklist is healthy. */
type ReadListHealth = () => readonly { readonly id: string; readonly healthy: boolean }[]

/** Returns the state of regular backups. */
type ReadBackups = () => { readonly lastAt: Date | null; readonly bytes: number; readonly failures: number }

/** Returns the state of the configuration file that this process applies. */
type ReadConfigurationFile = () => { readonly appliedAt: Date | null; readonly failure: object | null }

/**
 * Creates the metrics of this process.
 * @param backups null: none are made.
 * @param configurationFile null: none is applied.
 */
export function createMetrics(
  lists: ReadListHealth = () => [],
  backups: ReadBackups | null = null,
  configurationFile: ReadConfigurationFile | null = null,
): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  new Gauge({
    name: 'allclear_build_info',
    help: 'The versions of Allclear and Node.js, as labels; always 1.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: packageVersion, node: process.version }, 1)
  new Gauge({
    name: 'allclear_blacklist_healthy',
    help: 'Whether a blacklist is healthy: 1 or 0.',
    labelNames: ['list'],
    registers,
    collect() {
      for (const { id, healthy } of lists()) this.set({ list: id }, Number(healthy))
    },
  })
  if (backups !== null) addBackups(backups, registers)
  if (configurationFile !== null) addConfigurationFile(configurationFile, registers)
  return {
    lateness: new Histogram({
      name: 'allclear_check_lateness_seconds',
      help: 'Time from when a monitor was due to the start of its probe.',
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
      registers,
    }),
    probes: new Counter({
      name: 'allclear_checks_total',
      help: 'Probes, by kind and outcome.',
      labelNames: ['kind', 'outcome'],
      registers,
    }),
    inFlight: new Gauge({ name: 'allclear_checks_in_flight', help: 'Probes in progress.', registers }),
    flushSeconds: new Histogram({
      name: 'allclear_results_write_seconds',
      help: 'Time to write a batch of probe results.',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
      registers,
    }),
    flushSize: new Histogram({
      name: 'allclear_results_written',
      help: 'Probe results per batch.',
      buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500],
      registers,
    }),
    dropped: new Counter({
      name: 'allclear_results_lost_total',
      help: 'Probe results that could not be stored.',
      registers,
    }),
    deliveries: new Counter({
      name: 'allclear_deliveries_total',
      help: 'Delivery attempts, by channel and outcome.',
      labelNames: ['channel', 'outcome'],
      registers,
    }),
    deletedRows: new Counter({
      name: 'allclear_retention_deleted_total',
      help: 'Rows that were deleted because they were old, by table.',
      labelNames: ['table'],
      registers,
    }),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

function addBackups(read: ReadBackups, registers: Registry[]): void {
  new Gauge({
    name: 'allclear_last_backup_timestamp_seconds',
    help: 'Unix time of the newest backup in BACKUP_DIR; 0: none exists.',
    registers,
    collect() {
      this.set((read().lastAt?.getTime() ?? 0) / 1000)
    },
  })
  new Gauge({
    name: 'allclear_last_backup_size_bytes',
    help: 'Size of the newest backup in BACKUP_DIR.',
    registers,
    collect() {
      this.set(read().bytes)
    },
  })
  new Counter({
    name: 'allclear_backup_failures_total',
    help: 'Regular backups that failed since the start.',
    registers,
    collect() {
      this.reset()
      this.inc(read().failures)
    },
  })
}

function addConfigurationFile(read: ReadConfigurationFile, registers: Registry[]): void {
  new Gauge({
    name: 'allclear_configuration_applied_timestamp_seconds',
    help: 'Unix time at which CONFIG_FILE was last applied; 0: not since the start.',
    registers,
    collect() {
      this.set((read().appliedAt?.getTime() ?? 0) / 1000)
    },
  })
  new Gauge({
    name: 'allclear_configuration_failing',
    help: 'Whether the present CONFIG_FILE cannot be applied: 1 or 0.',
    registers,
    collect() {
      this.set(Number(read().failure !== null))
    },
  })
}
