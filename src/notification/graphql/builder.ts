import { builderFor } from '../../graphql/schema/builder.ts'
import { bulkFor } from '../../graphql/schema/bulk.ts'
import type { NotificationContext } from '../context.ts'

export const builder = builderFor<NotificationContext>()
export const { bulkMutationOfIds } = bulkFor<NotificationContext>()
