import { parentPort } from 'node:worker_threads'

/** Answers the tasks of a `TaskThread` inside the worker, once it has loaded. An error ends the thread. */
export function answerTasks<In, Out>(answer: (input: In) => Out): void {
  parentPort?.on('message', (input: In) => parentPort?.postMessage(answer(input)))
  parentPort?.postMessage(null)
}
