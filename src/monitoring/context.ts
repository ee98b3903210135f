import type { Context } from '../context.ts'
import type { Seal } from '../seal.ts'
import type { ProbeTools } from './probe/probe.ts'

/** What handling monitors takes beside the context. */
export interface MonitoringContext extends Context {
  /** Keeps what is secret in their options. */
  readonly seal: Seal
  /** What they are tried out with. */
  readonly tools: ProbeTools
}
