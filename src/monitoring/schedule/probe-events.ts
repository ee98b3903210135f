import type { DatabaseHandle } from '../../database/client.ts'
import { isFor } from '../../event-log/audience.ts'
import { announcedEvents, listenToLogs } from '../../event-log/event.ts'

/**
 * Calls `wake` when events may have made probes due. Others, such as those of alerts and incidents, would only make it look
 * for nothing. Events that are too long to be announced wake it too.
 * @returns a function that stops it.
 */
export function listenForProbes(
  database: Pick<DatabaseHandle, 'listen'>,
  wake: () => void,
): Promise<() => Promise<void>> {
  return listenToLogs(database, (_organizationId, announcement) => {
    const events = announcedEvents(announcement)
    if (events.length === 0 || events.some(({ kind }) => isFor('probes', kind))) wake()
  })
}
