import type { Fields } from './fields.ts'
import { sectionOf } from './list-sections.ts'
import type { Draft } from './translation.ts'

const times: ReadonlySet<string> = new Set(['incidents', 'maintenance', 'subscribers'])

/**
 * Adds notes on lists that were not fetched completely: `not_read` names those over the page limit, `refused` those that the source
 * refused, as `name status`. Both are absent from files that were not fetched.
 */
export function noteUnfetched(draft: Draft, file: Fields): void {
  for (const name of new Set(file.list('not_read').map(String))) {
    const section = sectionOf(name)
    draft.skip(section, times.has(section) ? 'Older items' : 'Further items', 'Not read, because there are too many.')
  }
  for (const refused of new Set(file.list('refused').map(String))) {
    const [name = '', status = ''] = refused.split(' ')
    const reason = `Not read, because the source answers with status ${status}.`
    draft.skip(sectionOf(name), name.replaceAll('_', ' '), reason)
  }
}
