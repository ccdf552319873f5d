import { Converter, ReflectionKind } from 'typedoc'

/** Names modules as users import them. `names`: by the path of the source without its ending, from the root. */
export function moduleNames(app, names) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.getReflectionsByKind(ReflectionKind.Module)) {
      const name = names.get(module.name) ?? names.get(`${module.name}/index`)
      if (name === undefined) throw new Error(`no package exports ${module.name}`)
      module.name = name
    }
  })
}
