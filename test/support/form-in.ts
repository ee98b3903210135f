/** Returns the fields of a form as a browser would send them, as pairs. @param mark a part of its opening tag. */
export function formIn(html: string, mark: string): [name: string, value: string][] {
  const opened = [...html.matchAll(/<form [^>]*>/g)].find(([tag]) => tag.includes(mark))
  if (opened === undefined) throw new Error(`There is no form with ${mark}.`)
  const text = html.slice(opened.index, html.indexOf('</form>', opened.index))
  return [...text.matchAll(/<(input|textarea|select) ([^>]*)>/g)].flatMap(
    ([tag, kind, attributes = ''], index, all) => {
      const name = attributeIn(attributes, 'name')
      if (name === null) return []
      const start = (all[index]?.index ?? 0) + tag.length
      const pair = (value: string): [string, string] => [name, value]
      if (kind === 'textarea') return [pair(plain(text.slice(start, text.indexOf('</textarea>', start))))]
      if (kind === 'select') return [pair(chosenIn(text.slice(start, text.indexOf('</select>', start))))]
      const type = attributeIn(attributes, 'type')
      if (type === 'file' || (type === 'checkbox' && !/ checked/.test(attributes))) return []
      return [pair(attributeIn(attributes, 'value') ?? '')]
    },
  )
}

function chosenIn(options: string): string {
  const tags = [...options.matchAll(/<option ([^>]*)>/g)].map(([, attributes = '']) => attributes)
  const chosen = tags.find((attributes) => attributes.includes('selected')) ?? tags[0] ?? ''
  return attributeIn(chosen, 'value') ?? ''
}

function attributeIn(attributes: string, name: string): string | null {
  const value = new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1]
  return value === undefined ? null : plain(value)
}

const entities = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" } as const
const plain = (text: string) =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: keyof typeof entities) => entities[name])
