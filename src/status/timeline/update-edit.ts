import { z } from 'zod'
import type { Context } from '../../core/context.ts'
import { described, idOf, named, timeOf } from '../../core/described.ts'
import { renderMessage } from '../../core/markdown/markdown-rendering.ts'
import { hasChanges, requireVersion, versionInput } from '../../core/optimistic-lock.ts'
import { validate } from '../../core/validation.ts'
import type { IncidentUpdate } from '../../generated/prisma/client.ts'
import { message } from './timeline-limits.ts'
import { changedMessages, messageChanges, translations } from './translations.ts'
import { firstFreeTime, requireNotInFuture } from './update-time.ts'

const updateEdit = z.object({
  id: idOf('The update to change.'),
  message: described(message.nullish(), { description: 'The message, in markdown. Default: unchanged.' }),
  createdAt: timeOf('When the update was posted, not in the future.').nullish(),
  translations: translations.messages,
  version: versionInput,
})

/** The input that edits an update of a maintenance. */
export const maintenanceUpdateEdit = named(updateEdit, {
  name: 'EditMaintenanceUpdate',
  about: 'The changes to a maintenance update. Omitted fields stay as they are.',
})

/** The input that edits an update of an incident. */
export const incidentUpdateEdit = named(
  updateEdit.extend({
    createdAt: timeOf(
      'When the update was posted, not in the future. The incident takes the status of its newest update.',
    ).nullish(),
  }),
  { name: 'EditIncidentUpdate', about: 'The changes to an incident update. Omitted fields stay as they are.' },
)

type Editable = Pick<IncidentUpdate, 'id' | 'message' | 'createdAt' | 'translations' | 'version'>

/**
 * Validates an edit of an update and renders its messages, before the transaction. `dataOf`, called in it, returns the
 * columns to write; null: the edit changes nothing.
 * @throws Invalid, from `dataOf` also Conflict when the update was edited after the given version.
 */
export async function prepareUpdateEdit(ctx: Context, organizationId: string, input: unknown) {
  const { id, message, createdAt, version, ...given } = validate(updateEdit, input)
  const own = message ? { message, ...(await renderMessage(ctx, organizationId, message)) } : {}
  const others = await messageChanges(ctx, organizationId, given.translations)

  async function dataOf(
    tx: Context,
    before: Editable,
    readTimeline: () => Promise<Pick<Editable, 'id' | 'createdAt'>[]>,
  ) {
    requireVersion(before, version)
    requireNotInFuture('createdAt', createdAt, tx.now())
    const rendered = { ...own, ...changedMessages(before.translations, others) }
    const { translations } = rendered
    if (!hasChanges(before, { message: message ?? undefined, createdAt: createdAt ?? undefined, translations }))
      return null
    const neighbours = createdAt ? (await readTimeline()).filter((each) => each.id !== id) : []
    const taken = neighbours.map((each) => each.createdAt)
    const moved = createdAt ? { createdAt: firstFreeTime(createdAt, taken) } : {}
    return { ...rendered, ...moved, editedAt: tx.now(), version: { increment: 1 } }
  }

  return { id, createdAt, dataOf }
}
