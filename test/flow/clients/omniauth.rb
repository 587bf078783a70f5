# A Rails app whose only initializer is the one that is written into config/initializers of the folder.
#
# Arguments: folder, port. A GET of / has the button that signs in, or who is signed in, as JSON.

ENV["RAILS_ENV"] = "development"
require "logger"
require "action_controller/railtie"
require "rack/handler/webrick"
require "omniauth_openid_connect"
require "omniauth/rails_csrf_protection"

class App < Rails::Application
  config.root = ARGV.first
  config.load_defaults 6.1
  config.secret_key_base = "0" * 64
  config.eager_load = false
  config.logger = Logger.new($stderr)
end

class SessionsController < ActionController::Base
  def home
    render inline: <<~HTML
      <html><%= form_with(url: "/auth/idp", local: true) { |form| form.button("Sign in", id: "sign-in") } %></html>
    HTML
  end

  def create
    auth = request.env["omniauth.auth"]
    render json: { uid: auth.uid, email: auth.info.email, nonce: auth.extra.raw_info.key?("nonce") }
  end

  def failure
    render json: { message: params[:message] }, status: :bad_request
  end
end

App.initialize!
App.routes.draw do
  root to: "sessions#home"
  get "/auth/idp/callback", to: "sessions#create"
  get "/auth/failure", to: "sessions#failure"
end
Rack::Handler::WEBrick.run(App, Host: "127.0.0.1", Port: ARGV.last.to_i, AccessLog: [], Logger: WEBrick::Log.new($stderr))
