import type { Logger } from 'pino'
import type { z } from 'zod'
import type { Checker } from '../../blacklist/checker.ts'
import type { MonitorKind, MonitorState } from '../../generated/prisma/enums.ts'
import type { DnsClient } from '../../network/dns/client.ts'
import type { Outbound } from '../../network/outbound.ts'
import type { Turns } from '../../network/turns.ts'
import type { Clock } from '../../time.ts'
import type { Detail, Finding } from '../finding.ts'

/** What probes work with. */
export interface ProbeTools {
  /** The only way to reach what a tenant names. */
  readonly outbound: Outbound
  /** Our own resolvers. */
  readonly dns: DnsClient
  readonly checker: Checker
  /** Whose turn it is to ask a third party, of all organizations. */
  readonly turns: Turns
  /** The setting `ALLOW_PRIVATE_NETWORKS`. */
  readonly allowPrivate: boolean
  readonly now: Clock
  readonly log: Logger
}

/** One run of a probe. */
export interface ProbeRun {
  readonly tools: ProbeTools
  /** In how many milliseconds it has to end. */
  readonly timeoutMs: number
  /** Ends it early, when the process stops: what comes then is not used. */
  readonly signal: AbortSignal
  /** The monitor's state before, for kinds whose answer can be incomplete. */
  readonly state: MonitorState
  /** What the last DOWN result told, when that is at hand, for kinds whose answer can be incomplete. */
  readonly lastDown?: Detail | null
}

/** What holds for the monitors of a kind. */
export interface KindRules<O extends z.ZodType = z.ZodType> {
  readonly kind: MonitorKind
  /** Reads and validates what an owner gives; what it gives can be read again. */
  readonly options: O
  /** Whether it looks the same from everywhere, so that one worker of any region is enough. */
  readonly anywhere: boolean
  /** The shortest interval that makes sense for it, in seconds. */
  readonly minIntervalSeconds: number
}

/** A kind of monitor that is probed. Options are what `options` reads, with secrets opened. */
export interface Probe<O extends z.ZodType = z.ZodType> extends KindRules<O> {
  /** Never rejects: what goes wrong is a finding. Ends by its deadline. */
  run(options: z.output<O>, run: ProbeRun): Promise<Finding>
}
