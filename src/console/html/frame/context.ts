import type { ScheduledBackups } from '../../../backup/schedule.ts'
import type { BillingContext } from '../../../billing/context.ts'
import type { MountedFile } from '../../../configuration/mounted-file.ts'
import type { GraphContext } from '../../../graphql/schema/builder.ts'
import type { PeopleContext } from '../../../people/context.ts'

/** The context of the console: like that of every room, with a person or the operator as the actor. */
export type ConsoleContext = GraphContext & PeopleContext & BillingContext

// The data of the operator's screens.
declare module '../../../graphql/schema/builder.ts' {
  interface GraphContext {
    /** The backups that this process makes; null or absent: none. */
    readonly backups?: ScheduledBackups | null
    /** The configuration file that this process applies; null or absent: none. */
    readonly configurationFile?: MountedFile | null
  }
}
