# The configuration of workerd, Cloudflare's runtime. To deploy, use wrangler with `main = "dist/index.js"`.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", address = "127.0.0.1:8083", http = (), service = "main")],
);

const main :Workerd.Worker = (
  modules = [(name = "worker.mjs", esModule = embed "dist/worker.mjs")],
  compatibilityDate = "2026-11-01",
  bindings = [(name = "LIMITS", durableObjectNamespace = "LimitObject")],
  durableObjectNamespaces = [(className = "LimitObject", uniqueKey = "limits", enableSql = true)],
  durableObjectStorage = (inMemory = void),
);
