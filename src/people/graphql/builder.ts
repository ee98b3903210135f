import { builderFor } from '../../graphql/schema/builder.ts'
import type { PeopleContext } from '../context.ts'

export const builder = builderFor<PeopleContext>()
