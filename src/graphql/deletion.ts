import { builder } from './builder.ts'

/** The payload of a mutation that deletes. */
export function deletionOf(type: string) {
  return builder.objectRef<{ readonly id: string }>(`Delete${type}Payload`).implement({
    description: 'What has been deleted.',
    fields: (t) => ({ id: t.exposeID('id') }),
  })
}
