import { asText, type FuzzInput, type Place, percentEncoded } from './input.ts'
import { bodyKinds, contents, type Encoded, fileWith, multipart } from './multipart.ts'
import { texts } from './values.ts'

/** A form on a page. */
interface Form {
  readonly action: string
  readonly method: string
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** The names of the fields that take files. */
  readonly files: readonly string[]
}

/** Forms that would end what the other inputs need. */
const ending = /sign-out|\/delete$|\/close$|revoke|\/leave|sessions|password|account\/(email|name)/

const MAX_PAGES = 250

/**
 * Reads the forms of all pages that a person reaches by links.
 * @param read returns a page, or null.
 * @param callers who sends them; those who cannot see them try as well.
 */
export async function formPlaces(
  starts: readonly string[],
  read: (path: string) => Promise<string | null>,
  callers: Place['callers'] = ['person', 'stranger', 'READ', 'WRITE', 'ADMIN'],
): Promise<{ readonly places: Place[]; readonly pages: number; readonly forms: number }> {
  const seen = new Set<string>()
  const forms = new Map<string, Form>()
  const queue = [...starts]
  let pages = 0
  for (let path = queue.shift(); path !== undefined && pages < MAX_PAGES; path = queue.shift()) {
    const kind = kindOf(path)
    if (seen.has(kind)) continue
    seen.add(kind)
    const html = await read(path)
    if (html === null) continue
    pages += 1
    for (const form of formsIn(html, path)) {
      const key = `${form.method} ${kindOf(form.action)} ${form.fields.map(([name]) => name).join()} ${form.files.join()}`
      if (!ending.test(form.action) && !forms.has(key)) forms.set(key, form)
    }
    queue.push(...linksIn(html))
  }
  const all = [...forms.values()]
  return {
    places: all.flatMap((form) => [...placesOf(form, callers), ...filePlacesOf(form, callers)]),
    pages,
    forms: all.length,
  }
}

/** Pages of the same kind have the same forms. */
const kindOf = (path: string) =>
  path
    .replace(/^(\/status\/[^/]+)\/[a-z]{2}(-[a-z]+)?(?=\/|$)/, '$1/{language}')
    .replace(/[a-z]{3,4}_[0-9a-v]{24}/g, '{id}')
    .replace(/\?.*/s, (query) => query.replace(/=[^&]*/g, '='))

const plain = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')

const attribute = (tag: string, name: string) => {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]
  return value === undefined ? null : plain(value)
}

function linksIn(html: string): string[] {
  return [...html.matchAll(/<a [^>]*>/g)].flatMap(([tag]) => {
    const href = attribute(tag, 'href')
    return href?.startsWith('/') && !href.startsWith('//') && !/^\/(docs|assets)/.test(href)
      ? [href.replace(/#.*/s, '')]
      : []
  })
}

function formsIn(html: string, path: string): Form[] {
  return [...html.matchAll(/<form[ >].*?<\/form>/gs)].map(([whole]) => {
    const opened = whole.slice(0, whole.indexOf('>') + 1)
    return {
      action: (attribute(opened, 'action') || path).replace(/#.*/s, ''),
      method: (attribute(opened, 'method') ?? 'get').toUpperCase(),
      fields: fieldsIn(whole),
      files: filesIn(whole),
    }
  })
}

function fieldsIn(form: string): [string, string][] {
  return [...form.matchAll(/<(input|textarea|select|button) ([^>]*)>/g)].flatMap(([tag, kind]) => {
    const name = attribute(tag, 'name')
    if (name === null || attribute(tag, 'type') === 'file') return []
    const value = attribute(tag, 'value') ?? ''
    if (kind !== 'select') return [[name, value] as [string, string]]
    const after = form.slice(form.indexOf(tag))
    const options = [...after.slice(0, after.indexOf('</select>')).matchAll(/<option [^>]*>/g)].map(
      ([option]) => option,
    )
    const chosen = options.find((option) => option.includes(' selected')) ?? options[0] ?? ''
    return [[name, attribute(chosen, 'value') ?? ''] as [string, string]]
  })
}

const filesIn = (form: string): string[] =>
  [...form.matchAll(/<input [^>]*>/g)].flatMap(([tag]) => {
    const name = attribute(tag, 'type') === 'file' ? attribute(tag, 'name') : null
    return name === null ? [] : [name]
  })

/** Returns each file of a form, and the form as a whole: every form may come as one with files. */
function filePlacesOf({ action, method, fields, files }: Form, callers: Place['callers']): Place[] {
  if (method === 'GET') return []
  const parts = fields.map(([name, content]) => ({ name, content }))
  const request = ({ body, type }: Encoded): Omit<FuzzInput, 'name' | 'caller'> => ({
    ...{ method, path: action, body },
    headers: { accept: 'text/html', 'content-type': type, 'sec-fetch-site': 'same-origin' },
  })
  const title = `${method} ${kindOf(action)}`
  const ofFile = files.flatMap((field) =>
    (['name', 'type', 'content'] as const).map(
      (what): Place => ({
        ...{ name: `${title} ${what} of the file ${field}`, callers, kinds: what === 'content' ? contents : texts },
        put: (value) => request(multipart([...parts, fileWith[what](field, value)], { isRaw: what !== 'content' })),
      }),
    ),
  )
  const whole: Place = {
    ...{ name: `${title} as a form with files`, callers, kinds: bodyKinds(parts) },
    put: (value) => request(value as Encoded),
  }
  return [...ofFile, whole]
}

function placesOf({ action, method, fields }: Form, callers: Place['callers']): Place[] {
  const names = [...new Set(fields.map(([name]) => name))]
  const place = (name: string, put: (text: string) => readonly (readonly [string, string])[]): Place => ({
    name: `${method} ${kindOf(action)} field ${name}`,
    callers,
    kinds: texts,
    put(value): ReturnType<Place['put']> {
      const sent = put(asText(value))
        .map((pair) => pair.map(percentEncoded).join('='))
        .join('&')
      const [path = '', query] = action.split('?')
      if (method === 'GET') return { method, path: `${path}?${sent}`, headers: { accept: 'text/html' }, body: null }
      return {
        method,
        path: query === undefined ? path : `${path}?${query}`,
        headers: {
          accept: 'text/html',
          'content-type': 'application/x-www-form-urlencoded',
          'sec-fetch-site': 'same-origin',
        },
        body: sent,
      }
    },
  })
  return [
    ...names.map((name) => place(name, (text) => fields.map(([each, value]) => [each, each === name ? text : value]))),
    place('of any name', (text) => [...fields, [text, text]]),
  ]
}
