/** Parses and writes YAML in a separate process: a file with 500 monitors takes 100 ms, and a hostile one can exhaust the memory. */
import { answerTasks } from '../core/thread/task-worker.ts'
import type { YamlTask } from './yaml-process.ts'
import { readYaml, writeYaml } from './yaml-text.ts'

answerTasks((task: YamlTask) => ('read' in task ? readYaml(task.read) : writeYaml(task.write)))
