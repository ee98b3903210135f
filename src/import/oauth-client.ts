import type { ObjectFields } from '../configuration/format.ts'
import type { Fields } from './fields.ts'
import { present } from './translation.ts'

/**
 * Reads an OAuth client that signs in for a monitor; undefined: there is none.
 * @param separator what stands between the words of a key: `token_url` or `token-url`.
 */
export function oauthOf(client: Fields, separator: '_' | '-'): ObjectFields | undefined {
  const text = (...words: string[]) => client.text(words.join(separator))
  if (text('token', 'url') === '') return undefined
  return present({
    tokenUrl: text('token', 'url'),
    clientId: text('client', 'id'),
    clientSecret: text('client', 'secret'),
    scope: client.list('scopes').map(String).join(' '),
  })
}
