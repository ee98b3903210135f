import type { Database } from '../../core/context.ts'
import type { ErasedTable } from '../../core/erased-table.ts'
import { port } from '../../core/port.ts'
import type { Organization } from '../../generated/prisma/client.ts'

/** What a room does with the rows that it keeps for an organization. Each runs in the transaction of the change. */
export interface OrganizationData {
  /** Ends the work of an organization that is deleted. */
  readonly stop?: (db: Database, organization: Organization, at: Date) => Promise<void>
  /** Continues the work of a restored organization. */
  readonly resume?: (db: Database, organization: Organization, at: Date) => Promise<void>
  /** Forgets what depends on the boundaries of days, after the organization's time zone has changed. */
  readonly moveDays?: (db: Database, organizationId: string) => Promise<void>
  /** Tables that can be very large for an organization or are not deleted by cascade, in the order of erasure. */
  readonly erased?: readonly ErasedTable[]
}

/** What each room above does, in the order of erasure. */
export const organizationData = port<readonly OrganizationData[]>('what rooms do with the rows of an organization')
