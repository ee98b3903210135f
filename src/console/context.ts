import type { BillingContext } from '../billing/context.ts'
import type { GraphContext } from '../graphql/builder.ts'
import type { PeopleContext } from '../people/context.ts'

/** The context of the console: that of every room, with a person or the operator as the actor. */
export type ConsoleContext = GraphContext & PeopleContext & BillingContext
