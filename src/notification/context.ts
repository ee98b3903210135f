import type { UsageCounters } from '../account/usage.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import type { Seal } from '../seal.ts'

/** What handling subscribers takes beside the context. */
export interface NotificationContext extends Context {
  /** Keeps addresses, tokens and secrets. */
  readonly seal: Seal
  /** Counts what is asked for, so that nobody is flooded. */
  readonly usage: UsageCounters
}

/** Whether subscribers can be reached by mail. */
export function offersMail({ SMTP_URL }: Pick<Config, 'SMTP_URL'>): boolean {
  return SMTP_URL !== undefined
}
