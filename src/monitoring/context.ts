import type { EditContext } from '../account/managed-object.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { ProbeTools } from './probe/probe.ts'

/** The context of operations on monitors. */
export interface MonitoringContext extends EditContext {
  /** Seals the secrets in the options of monitors. */
  readonly seal: SecretBox
  /** Runs probes for `testMonitor`. */
  readonly tools: ProbeTools
}
