/** The maximum length of a line in bytes: several times the largest row, which is a file of an incident in hexadecimal. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024

/**
 * Splits a stream into lines.
 * @throws the error of the stream. Node's `readline` would wait forever instead. @throws RangeError for a line over
 * `MAX_LINE_BYTES`: a few kilobytes of compressed text could fill the memory.
 */
export async function* linesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      yield Buffer.concat([...parts.splice(0), chunk.subarray(start, end)]).toString()
      start = end + 1
      bytes = 0
    }
    parts.push(chunk.subarray(start))
    bytes += chunk.length - start
    if (bytes > MAX_LINE_BYTES) throw new RangeError('A line is too long.')
  }
}

const NEWLINE = 0x0a
