import os
import lit.formats

config.name = "Hocket"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.pathsep.join([config.hocket_tools_dir, config.llvm_tools_dir, os.environ["PATH"]])
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --dump-input=fail"
config.substitutions.append(("%examples", os.path.join(config.hocket_source_dir, "examples")))
config.substitutions.append(("%source", config.hocket_source_dir))
config.substitutions.append(("%python", "python3"))
