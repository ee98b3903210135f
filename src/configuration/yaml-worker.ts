/** Parses and writes YAML in a process of its own: a file with 500 monitors takes 100 ms, a hostile one all memory. */
import { answerTasks } from '../core/thread/task-worker.ts'
import type { YamlTask } from './yaml-process.ts'
import { readYaml, writeYaml } from './yaml-text.ts'

answerTasks((task: YamlTask) => ('read' in task ? readYaml(task.read) : writeYaml(task.write)))
