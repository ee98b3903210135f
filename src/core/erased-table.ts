import type { Prisma } from '../generated/prisma/client.ts'

/** A table whose rows of a deleted organization are erased in batches. The name is interpolated into SQL. */
export interface ErasedTable {
  readonly table: string
  /** The condition on the rows of an organization; absent: they have its id in `organizationId`. */
  readonly where?: (organizationId: string) => Prisma.Sql
}
