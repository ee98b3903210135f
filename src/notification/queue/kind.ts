import type { SendOutcome, SendResult } from '../channel/channel.ts'
import type { CountedMail } from '../mail/budget.ts'
import type { Attempt, DeliveryProgress } from './attempt.ts'
import type { Threads } from './thread.ts'

/** What every claimed delivery has, whoever receives it. */
export interface DueRow {
  readonly id: string
  readonly organizationId: string
  /** The key of the limits that apply: a host, or `mail`. */
  readonly destination: string
  /** The end of the lease. The worker holds the lease while the row has exactly this time. */
  readonly dueAt: Date
  /** The number of failed attempts in its retry window. */
  readonly failed: number
  /** The start of its retry window. */
  readonly triedSince: Date
}

/** The result of a delivery that a worker had claimed. */
export interface DeliveryResult<Row> {
  readonly delivery: Row
  /** Null if nothing was sent: its receiver no longer wants it, a quota is used up, or its host is at its limit. */
  readonly attempt: Attempt | null
  readonly outcome: SendOutcome | null
  readonly progress: DeliveryProgress
}

/**
 * A kind of delivery: what its table, its receivers and its messages have of their own. Claims, turns, limits, quotas,
 * retries and leases are the same for all kinds (`worker.ts`). To add a kind, describe it like this.
 */
export interface DeliveryKind<Row extends DueRow> {
  /** Its table, with the columns `id`, `organizationId` and `dueAt`. Interpolated into SQL, so never pass user input. */
  readonly table: string
  /** The names of the room and of its rows for the log. */
  readonly name: { readonly room: string; readonly rows: string }
  /** The threads that are sent in order; null: the order does not matter. */
  readonly threads: Threads | null
  /** The SQL expression of a row's destination. */
  readonly destinationSql: string
  readonly limits: {
    /** How many rows are claimed, together and per statement. */
    readonly claimed: number
    readonly batch: number
    /** How many messages are sent at once, together and to one destination. An organization has half of each. */
    readonly atOnce: number
    readonly perDestination: (destination: string) => number
  }
  /** Reads pending rows by id, in any order. */
  read(ids: readonly string[]): Promise<readonly Row[]>
  /** Names the receiver, who gets one message at a time. */
  receiverOf(row: Row): string
  /** Returns whether the message counts against the limits of third parties (`ThirdPartyRate`). */
  isRated(row: Row): boolean
  /** Returns the email that the quotas count at the first attempt; null: it is none. */
  mailOf(row: Row): CountedMail | null
  /** Returns whether the receiver still wants the message; absent: `send` finds out. */
  isWanted?(row: Row): Promise<boolean>
  /** Sends the message. Null: the receiver no longer wants it, so nothing was sent. May throw, which is a bug. */
  send(row: Row, at: Date): Promise<SendResult | null>
  /** Returns whether a result is stored at once, because its receiver may not recognize a duplicate. */
  isUrgent(result: DeliveryResult<Row>): boolean
  /** Stores results, and what follows from them for their receivers. After an error it is called again. */
  store(results: readonly DeliveryResult<Row>[], now: Date): Promise<void>
  /** The label of its channel in the metrics. */
  channelOf(row: Row): string
}
