import { builder } from './builder.ts'

/** Creates the payload type of a mutation that deletes. */
export function deletionPayload(type: string) {
  return builder.objectRef<{ readonly id: string }>(`Delete${type}Payload`).implement({
    description: 'The id of the deleted object.',
    fields: (t) => ({ id: t.exposeID('id') }),
  })
}
