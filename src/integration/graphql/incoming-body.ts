import type { IncomingBody as IncomingBodyRow } from '../../generated/prisma/client.ts'
import { IncomingStatus } from '../../generated/prisma/enums.ts'
import { text } from '../../graphql/document/cost.ts'
import { filterTag } from '../../graphql/list/filter.ts'
import { orderOf } from '../../graphql/list/keyset.ts'
import { SHOWN_CHARACTERS, shownBody } from '../received.ts'
import { builder } from './builder.ts'

export const IncomingBody = builder.objectRef<IncomingBodyRow>('IncomingBody').implement({
  description: 'A received message. Kept for seven days.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The message’s id.' }),
    receivedAt: t.expose('receivedAt', { type: 'DateTime', description: 'When it was received.' }),
    status: t.expose('status', { type: IncomingStatus, description: 'The state of the message.' }),
    note: t.exposeString('note', { extensions: text(500), description: 'How it was applied, or why it was not.' }),
    body: t.string({
      extensions: text(SHOWN_CHARACTERS),
      description: `The body, cut to ${SHOWN_CHARACTERS} characters. \`Integration.fullBody\` has all of it.`,
      resolve: (row, _args, { seal }) => shownBody(seal, row),
    }),
  }),
})

export const IncomingBodyFilter = builder.inputType('IncomingBodyFilter', {
  description: 'Conditions. Items must match all of them.',
  fields: (t) => ({
    status: t.field({ type: [IncomingStatus], required: false, description: 'Any of these states.' }),
  }),
})

/** Orders filtered messages, newest first. */
export const newestFirst = (filter: object | null | undefined) =>
  orderOf('IncomingBody', { position: ['number', 'desc'] }, filterTag(filter))
