import type { Logger } from 'pino'
import type { z } from 'zod'
import type { Checker } from '../../blacklist/checker.ts'
import type { Issue } from '../../core/errors.ts'
import type { Tracer } from '../../core/telemetry/tracing.ts'
import type { Clock } from '../../core/time.ts'
import type { MonitorKind, MonitorState } from '../../generated/prisma/enums.ts'
import type { DestinationLimiter } from '../../network/destination-limiter.ts'
import type { DnsClient } from '../../network/dns/client.ts'
import type { PrivateTargetPolicy, PrivateTargetRule } from '../../network/outbound/destination-policy.ts'
import type { Outbound } from '../../network/outbound/outbound.ts'
import type { PortUse } from '../../network/outbound/port-policy.ts'
import type { RdapClient } from '../../network/outbound/rdap.ts'
import type { ProbeDetail, ProbeResult } from '../result/probe-result.ts'

/** The dependencies of probes. */
export interface ProbeTools {
  /** Connects to hosts that tenants choose; nothing else may. */
  readonly outbound: Outbound
  /** Our own resolvers. */
  readonly dns: DnsClient
  readonly checker: Checker
  readonly rdap: RdapClient
  /** Limits the probes that all organizations together send to one third party. */
  readonly limiter: DestinationLimiter
  /** Which organizations may reach private networks. */
  readonly allowPrivate: PrivateTargetPolicy
  readonly now: Clock
  readonly log: Logger
  /** The tracer; null or absent: probes are not traced. */
  readonly tracer?: Tracer | null
}

/** One run of a probe. */
export interface ProbeRun {
  readonly tools: ProbeTools
  /** The id of the organization. Organizations take turns in long computations. */
  readonly owner: string
  /** The timeout in milliseconds. It excludes waiting for rate limits. */
  readonly timeoutMs: number
  /** How long the probe may wait for rate limits before it connects, in milliseconds; absent: 0. */
  readonly waitMs?: number
  /** Ends the probe early when the process stops; its result is discarded. */
  readonly signal: AbortSignal
  /** The monitor's current state, for kinds whose answer can be incomplete. */
  readonly state: MonitorState
  /** The detail of the last DOWN result, if it is known, for kinds whose answer can be incomplete. */
  readonly lastDown?: ProbeDetail | null
}

/** The host that a monitor probes, and its port; null: the owner does not choose one. */
export interface Target {
  readonly host: string
  readonly port: number | null
}

/** What people read about a kind. */
export interface KindWords {
  readonly name: string
  readonly about: string
}

/** The rules of a kind of monitor. */
export interface KindRules<O extends z.ZodType = z.ZodType> {
  readonly kind: MonitorKind
  readonly words: KindWords
  /**
   * Validates and normalizes options. Its output is valid input. The API, the console and the schema of a file are
   * generated from it, in its order: each option is `described`.
   */
  readonly options: O
  /** Whether the result is the same in every region, so that one worker of any region is enough. */
  readonly anywhere: boolean
  /** The shortest allowed interval, in seconds. */
  readonly minIntervalSeconds: number
  /** The interval of a new monitor, in seconds. */
  readonly defaultIntervalSeconds: number
  /** An input with only the required options. The defaults are derived from it. */
  readonly smallest: z.input<O>
  /** The option that names the target; null: none. */
  readonly subject: string | null
  /** Returns the target; null: the owner does not choose a host. */
  target(options: z.output<O>): Target | null
  /** Returns the proxies. Their ports count like that of the target. Absent: there are none. */
  relays?(options: z.output<O>): readonly Target[]
  /** Returns how the connection to the target is used; absent: `application`. */
  portUse?(options: z.output<O>): PortUse
  /**
   * Returns the options whose texts are sent where a control character could become a second command: all but bodies,
   * queries and expected texts. Absent: all options.
   */
  sentTexts?(options: z.output<O>): unknown
  /** Returns why the target is not allowed, without resolving names. Absent: only private targets are not allowed. */
  refusals?(options: z.output<O>, rule: PrivateTargetRule): Issue[]
  /** Returns the recipient of the secrets. Secrets are kept only while it stays the same. */
  recipient?(options: z.output<O>): string
}

/** A kind of monitor with a probe. */
export interface Probe<O extends z.ZodType = z.ZodType> extends KindRules<O> {
  /** Runs the probe with opened secrets, within its timeout. Never rejects: an error becomes a result. */
  run(options: z.output<O>, run: ProbeRun): Promise<ProbeResult>
}
