const voidElements = new Set(['area', 'br', 'col', 'hr', 'img', 'input', 'link', 'meta', 'source', 'wbr'])

/** Returns the nesting errors of an HTML text's tags. */
export function nestingFaults(html: string): readonly string[] {
  const open: string[] = []
  const faults: string[] = []
  for (const [, slash, name = '', selfClosing] of html.matchAll(
    /<(\/?)([a-z][a-z0-9]*)(?:\s(?:[^>"]|"[^"]*")*?)?(\/?)>/g,
  )) {
    if (selfClosing || voidElements.has(name)) continue
    if (!slash) open.push(name)
    else if (open.at(-1) === name) open.pop()
    else faults.push(`</${name}> closes <${open.at(-1)}>`)
  }
  return [...faults, ...open.map((name) => `<${name}> is never closed`)]
}

/** Returns the ids that occur more than once. */
export function repeatedIds(html: string): readonly string[] {
  const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id ?? '')
  return ids.filter((id, index) => ids.indexOf(id) !== index)
}

/** Reads a body piece by piece, so that a test sees what was sent so far. */
export function bodyReader(response: Response) {
  if (!response.body) throw new Error('The response has no body.')
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    /** Returns everything sent, until it contains `part` or ends. */
    async until(part: string): Promise<string> {
      while (!text.includes(part)) {
        const { done, value } = await reader.read()
        if (done) break
        text += value
      }
      return text
    },
    /** Disconnects, like a reader who closes the page. */
    leave: () => reader.cancel(),
  }
}
