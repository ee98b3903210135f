import { jpeg, png, svg, textFile } from '../support/pictures.ts'
import type { HostileCase, Target } from './case.ts'
import { ask } from './case.ts'
import { asMember, multipart } from './console.ts'

const MEGABYTE = 1024 * 1024

/** Fills a file of 5 MB with one byte after the beginning of another file. */
function filled(head: Uint8Array, byte: number): Uint8Array {
  const file = new Uint8Array(5 * MEGABYTE).fill(byte)
  file.set(head)
  return file
}

/** A JPEG of 5 MB that consists of empty comments. */
function comments(): Uint8Array {
  const file = new Uint8Array(5 * MEGABYTE)
  file.set([0xff, 0xd8])
  for (let at = 2; at + 4 <= file.length; at += 4) file.set([0xff, 0xfe, 0, 2], at)
  return file
}

/** Uploads a file over REST, and deletes it again, so that the incident has room for the others. */
function uploading(
  name: string,
  status: number,
  content: Uint8Array,
  { filename = 'a.png', ...fields }: Readonly<Record<string, string>> = {},
): HostileCase {
  return {
    name: `a file by REST: ${name}`,
    statuses: [status],
    async send(target) {
      const form = new FormData()
      for (const [key, value] of Object.entries(fields)) form.append(key, value)
      form.set('file', new Blob([new Uint8Array(content)]), filename)
      const response = await fetch(`${target.url}${pathOf(target)}`, {
        method: 'POST',
        body: form,
        headers: keyOf(target),
      })
      const { file } = (await response.json()) as { readonly file?: { readonly id: string } }
      if (file) {
        const query = `mutation { deleteIncidentFile(id: "${file.id}") { __typename } }`
        const headers = { 'content-type': 'application/json', ...keyOf(target) }
        await ask(target.url, '/graphql', { method: 'POST', headers, body: JSON.stringify({ query }) })
      }
      return response.status
    },
  }
}

const pathOf = ({ incidentIds }: Target) => `/api/v1/incidents/${incidentIds[1]}/files`
const keyOf = ({ key }: Target) => ({ authorization: `Bearer ${key}` })
const alt = 'x'
const notePath = ({ incidentIds }: Target) => `incidents/${incidentIds[1]}/notes`
const form = (parts: readonly (readonly [name: string, content: Uint8Array])[]) => multipart(parts)

/** Files of incidents. */
export const files: readonly HostileCase[] = [
  uploading('a picture of 4 billion pixels', 201, png(65_535, 65_535), { alt }),
  ...[0, 0x3c, 0xff].map((byte) =>
    uploading(`a JPEG of 5 MB of ${byte}`, 201, filled(jpeg(1, 1).slice(0, 6), byte), { alt }),
  ),
  uploading('a JPEG of a million comments', 201, comments(), { alt }),
  uploading('a PNG with a page behind it', 201, filled(png(9, 9), 0x3c), { alt }),
  uploading('SVG that is called a picture', 201, svg('<script>alert(1)</script>')),
  uploading('a page that is called a picture', 201, textFile('<html><script>alert(1)</script>')),
  uploading('5 MB of text', 201, new Uint8Array(5 * MEGABYTE).fill(0x61)),
  uploading('a name of 10,000 letters', 201, textFile('x'), { filename: `${'\u202e../'.repeat(2500)}.exe` }),
  uploading('a name in a field, of 3,900 letters', 201, textFile('x'), { name: 'a\u0301\u0302'.repeat(1300) }),
  uploading('a name in a field, of 9,000 letters', 400, textFile('x'), { name: 'a\u0301\u0302'.repeat(3000) }),
  uploading('a description of 10,000 letters', 400, png(9, 9), { alt: 'a\u0301\u0302'.repeat(3000) }),
  uploading('an update that is none', 404, textFile('x'), { update_id: `upd_${'%_'.repeat(1000)}` }),
  uploading('6 MB', 413, new Uint8Array(6 * MEGABYTE)),
  {
    name: 'files by REST: 20 of 5 MB at once',
    statuses: [201],
    async send(target) {
      const one = uploading('', 201, new Uint8Array(5 * MEGABYTE).fill(0x61))
      // Surplus uploads are answered before they are read, and may see the connection close.
      const all = await Promise.all(Array.from({ length: 20 }, () => one.send(target).catch(() => 503)))
      return all.every((status) => status === 201 || status === 503) ? 201 : (all.find((status) => status !== 201) ?? 0)
    },
  },
  {
    name: 'files by REST: 1,000 parts',
    statuses: [400, 413],
    send: (target) => {
      const sent = form(Array.from({ length: 1000 }, (_, n) => [`files.${n}`, new Uint8Array(1000)] as const))
      return ask(target.url, pathOf(target), { ...sent, headers: { ...sent.headers, ...keyOf(target) } })
    },
  },
  asMember('a note with 1,000 files', [422], async (target) => notePath(target), {
    ...form(Array.from({ length: 1000 }, (_, n) => [`files.${n}.content`, new Uint8Array(1000)] as const)),
  }),
  asMember('a note with three files of 5 MB, and no text', [422], async (target) => notePath(target), {
    ...form([0, 1, 2].map((n) => [`files.${n}.content`, filled(jpeg(1, 1).slice(0, 6), 0xff)] as const)),
  }),
  asMember('an update with a file of 20 MB', [413], async ({ incidentIds }) => `incidents/${incidentIds[1]}/updates`, {
    ...form([['files.0.content', new Uint8Array(20 * MEGABYTE)]]),
  }),
]
