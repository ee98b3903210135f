/**
 * Splits a stream into lines.
 * @throws the error of the stream. Node's `readline` would wait forever instead.
 */
export async function* linesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  const parts: Buffer[] = []
  for await (const chunk of stream) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      yield Buffer.concat([...parts.splice(0), chunk.subarray(start, end)]).toString()
      start = end + 1
    }
    parts.push(chunk.subarray(start))
  }
}

const NEWLINE = 0x0a
